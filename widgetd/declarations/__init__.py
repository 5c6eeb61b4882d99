"""The envelope of results, and each widget's arguments, as types of another language.

    JSON Schema -> shape -> TypeScript or Python

A declaration says what a compiler can hold; bounds, patterns and conditions are
the schema's alone.
"""

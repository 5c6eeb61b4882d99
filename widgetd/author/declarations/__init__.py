"""The envelope of results, and each widget's arguments and response, as types of a language.

    JSON Schema -> shape -> module, in the words of TypeScript or Python

A declaration says what a compiler can hold; bounds, patterns and conditions are
the schema's alone.
"""

const sample = {};

<Card>
  <Form onSubmitAction={{ type: "choice.save" }}>
    <Select
      name="untitledSingle"
      options={["option1", "option2", "option3"].map((option) => ({ value: option, label: option }))}
    />
    <RadioGroup
      name="titledSingle"
      options={[
        { value: "value1", label: "First Option" },
        { value: "value2", label: "Second Option" },
      ]}
    />
    <Select
      name="legacyEnum"
      options={[
        { value: "opt1", label: "Option One" },
        { value: "opt2", label: "Option Two" },
      ]}
    />
    <Button label="Save" submit />
  </Form>
</Card>

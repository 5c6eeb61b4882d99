const sample = {};

<Card>
  <Form onSubmitAction={{ type: "user.greet" }}>
    <Label value="What is your name?" fieldName="name" />
    <Input name="name" required />
    <Button label="Send" submit />
  </Form>
</Card>

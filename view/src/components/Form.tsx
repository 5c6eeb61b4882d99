import { action } from "../actions/action";
import { DEFAULTS } from "../defaults";
import { FormFrame } from "../form/FormFrame";
import { BOX } from "../style/box";
import { component } from "../tree/component";
import { Nodes } from "../tree/Nodes";
import { oneOf, type Props } from "../tree/read";
import { DIRECTIONS, flexStyle } from "./layout";

const schema = { ...BOX, onSubmitAction: action, direction: oneOf(DIRECTIONS, "col") };

function Form(props: Props<typeof schema>) {
  return (
    <FormFrame
      kind="submit"
      action={props.onSubmitAction}
      label="Submit"
      class={`box ${props.direction}`}
      style={flexStyle(props, DEFAULTS.gap.Form)}
    >
      <Nodes of={props.children} />
    </FormFrame>
  );
}

export const FORM = component("Form", schema, Form);

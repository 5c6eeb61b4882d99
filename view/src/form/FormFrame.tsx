/** A form element with its scope: the fields in it travel with every action raised in it. */

import type { ComponentChildren, CSSProperties, RefObject } from "preact";
import { useId, useRef } from "preact/hooks";
import type { Action } from "../actions/action";
import { type TriggerKind, useTrigger } from "../actions/trigger";
import { FormContext, onEnter } from "./form";

interface FrameProps {
  readonly kind: TriggerKind;
  /** Sent by Enter and by a submit button. */
  readonly action: Action | undefined;
  readonly label: string;
  readonly class: string;
  readonly style?: CSSProperties;
  readonly children: ComponentChildren;
}

export function FormFrame(props: FrameProps) {
  const element = useRef<HTMLFormElement>(null);
  const scope = { id: useId(), element, submitAction: props.action };
  return (
    <FormContext.Provider value={scope}>
      <FormElement {...props} element={element} />
    </FormContext.Provider>
  );
}

function FormElement(props: FrameProps & { element: RefObject<HTMLFormElement> }) {
  const trigger = useTrigger(props.kind, props.action, props.label);
  return (
    <form
      ref={props.element}
      class={props.class}
      style={props.style}
      noValidate
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={onEnter(() => trigger.fire())}
    >
      {props.children}
    </form>
  );
}

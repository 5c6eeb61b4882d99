/** The parts of every field: its id, its accessible name, and the problem beneath it. */

import type { JSX, VNode } from "preact";
import { useContext, useState } from "preact/hooks";
import { StageContext } from "../app/stage";
import { FormContext } from "./form";

export interface Field {
  readonly id: string;
  /** The accessible name and the state, for the control itself. */
  readonly attributes: {
    readonly "aria-label"?: string;
    readonly "aria-labelledby"?: string;
    readonly "aria-invalid"?: "true";
    readonly "aria-describedby"?: string;
  };
  /** Show and clear the problem; for the element around the control. */
  readonly listeners: Pick<JSX.HTMLAttributes<HTMLElement>, "onInput" | "onInvalidCapture">;
  readonly problem: VNode | null;
}

/** Gives a field its identity; `fallback` names it where no Label does. */
export function useField(name: string, fallback?: string): Field {
  const { labelled } = useContext(StageContext);
  const id = useFieldId(name);
  const [problem, setProblem] = useState("");
  const label = labelled.has(name)
    ? { "aria-labelledby": makeLabelId(id) }
    : { "aria-label": fallback || toWords(name) };
  return {
    id,
    attributes: problem
      ? { ...label, "aria-invalid": "true", "aria-describedby": `${id}-problem` }
      : label,
    listeners: {
      onInput: () => setProblem(""),
      onInvalidCapture: (event) => {
        event.preventDefault();
        const control = event.target as HTMLInputElement;
        setProblem(control.dataset.problem ?? control.validationMessage);
      },
    },
    problem: problem ? (
      <p class="problem" id={`${id}-problem`} role="alert">
        {problem}
      </p>
    ) : null,
  };
}

/** Returns the id of the field with that name, the same for the field and for its Label. */
export function useFieldId(name: string): string {
  const form = useContext(FormContext);
  return `${form?.id ?? "page"}-${name.replace(/\s+/g, "_")}`;
}

export const makeLabelId = (id: string) => `${id}-label`;

/** Returns a field's name as words: `"task.dueDate"` → `"Due date"`. */
export function toWords(name: string): string {
  const last = name.split(".").pop() ?? name;
  const words = last
    .replace(/[_-]+/g, " ")
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}

/** A button is read by its name alone: returns attributes whose name also says what is chosen. */
export function nameWith(field: Field, chosen: string | undefined): Field["attributes"] {
  const { "aria-label": label, "aria-labelledby": labelledBy } = field.attributes;
  if (labelledBy) return { ...field.attributes, "aria-labelledby": `${labelledBy} ${field.id}` };
  const said = label && chosen && chosen !== label ? `${label}, ${chosen}` : label;
  return said ? { ...field.attributes, "aria-label": said } : field.attributes;
}

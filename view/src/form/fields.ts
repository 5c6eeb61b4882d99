/** The fields inside an element: their values, whether they are valid, and what is wrong with them. */

import type { Fields, FieldValue } from "../actions/payload";

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Returns every field's value, and beside it the same without what was typed into a password. */
export function collect(scope: HTMLElement): { fields: Fields; shown: Fields } {
  const fields = new Map<string, FieldValue>();
  const shown = new Map<string, FieldValue>();
  for (const control of controls(scope)) {
    const value = readValue(control);
    if (value === undefined) continue;
    fields.set(control.name, value);
    shown.set(control.name, control.type === "password" ? "•••" : value);
  }
  return { fields, shown };
}

/** Tells whether all fields are valid; moves the focus to the first that is not. */
export function validate(scope: HTMLElement): boolean {
  const wrong = controls(scope).filter((control) => !control.checkValidity());
  if (wrong[0]) focusOn(wrong[0]);
  return wrong.length === 0;
}

/** Shows problems that the server found at the fields they name. */
export function report(scope: HTMLElement, problems: Readonly<Record<string, string>>): void {
  const wrong = controls(scope).filter((control) => Object.hasOwn(problems, control.name));
  for (const control of wrong) {
    control.dataset.problem = problems[control.name];
    control.dispatchEvent(new Event("invalid", { cancelable: true }));
    delete control.dataset.problem;
  }
  if (wrong[0]) focusOn(wrong[0]);
}

function controls(scope: HTMLElement): Control[] {
  const found = scope.querySelectorAll<Control>("input[name],select[name],textarea[name]");
  return [...found].filter((control) => control.name && !control.disabled);
}

function readValue(control: Control): FieldValue | undefined {
  if (!(control instanceof HTMLInputElement)) return control.value;
  if (control.type === "checkbox") return control.checked;
  if (control.type === "radio") return control.checked ? control.value : undefined;
  if (control.type === "number") return control.value === "" ? null : control.valueAsNumber;
  return control.value;
}

function focusOn(control: Control): void {
  const stand = control.type === "hidden" ? control.parentElement : null;
  (stand?.querySelector("button") ?? control).focus();
}

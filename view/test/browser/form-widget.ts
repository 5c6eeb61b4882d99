/** A form with every kind of field, and a host that shows it. */

import type { Browser } from "playwright-core";
import { type Hosted, openHost } from "./browser";

const SEND = { type: "form.send", payload: { id: 7 } };
export const FORM = {
  type: "Card",
  children: [
    {
      type: "Form",
      onSubmitAction: SEND,
      children: [
        { type: "Label", value: "Your name", fieldName: "person.name" },
        { type: "Input", name: "person.name", required: true },
        { type: "Input", name: "secret", inputType: "password" },
        { type: "Input", name: "age", inputType: "number" },
        { type: "Textarea", name: "notes", pattern: "[a-z\\s]*" },
        { type: "Checkbox", name: "agree", label: "I agree" },
        {
          type: "RadioGroup",
          name: "size",
          options: [
            { label: "S", value: "s" },
            { label: "M", value: "m" },
          ],
          onChangeAction: { type: "size.set" },
        },
        {
          type: "Select",
          name: "color",
          options: [
            { label: "Red", value: "red" },
            { label: "Blue", value: "blue" },
          ],
          placeholder: "Colour",
        },
        { type: "Button", label: "Send", submit: true },
        { type: "Button", label: "Skip", onClickAction: { type: "form.skip" } },
      ],
    },
  ],
};

export const result = (widget: unknown, id = "r1") => ({
  content: [{ type: "text", text: "A form." }],
  structuredContent: { uiType: "form", widget: "form" },
  _meta: { "widgetd/widget": widget, "widgetd/render": { id, widget: "form" } },
});

export async function withForm(
  browser: Browser,
  mount: Parameters<typeof openHost>[1] = {},
  widget: unknown = FORM,
): Promise<Hosted> {
  const hosted = await openHost(browser, mount);
  await hosted.send("sendToolResult", result(widget));
  await hosted.view.locator("html[data-ready=true]").waitFor({ state: "attached" });
  return hosted;
}

export const fill = async ({ view }: Hosted) => {
  await view.getByLabel("Your name").fill("Ada");
  await view.getByLabel("Secret").fill("hunter2");
  await view.getByLabel("Age").fill("36");
  await view.getByLabel("I agree").check();
};

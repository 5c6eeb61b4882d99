/** Fires an action from a control: collects the form, shows that it is under way, reports problems. */

import { useContext, useState } from "preact/hooks";
import { StageContext } from "../app/stage";
import { DEFAULTS } from "../defaults";
import { collect, report, validate } from "../form/fields";
import { FormContext } from "../form/form";
import type { Action } from "./action";
import { ContainerContext } from "./busy";
import { type Fields, withFields } from "./payload";

export type TriggerKind = keyof typeof DEFAULTS.loading;

export interface Trigger {
  /** The control shows that its action is under way. */
  readonly pending: boolean;
  /** The host can take this action; a control without an action is merely inert. */
  readonly possible: boolean;
  /** The action changes the page alone. */
  readonly isLocal: boolean;
  fire(field?: Fields): void;
  /** For the element that a user acts on: which action that takes. */
  readonly mark: { readonly "data-action": string | undefined };
}

/** Submitting asks the form whether it is complete; all other actions carry it as it is. */
const VALIDATING: ReadonlySet<TriggerKind> = new Set(["submit", "confirm"]);

export function useTrigger(kind: TriggerKind, action: Action | undefined, label: string): Trigger {
  const stage = useContext(StageContext);
  const form = useContext(FormContext);
  const container = useContext(ContainerContext);
  const [pending, setPending] = useState(false);

  const send = async (sent: Action, field: Fields): Promise<void> => {
    const scope = form?.element.current;
    const { fields, shown } = scope ? collect(scope) : { fields: field, shown: field };
    const outcome = await stage.act({
      action: sent,
      payload: withFields(sent.payload, fields),
      shownPayload: withFields(sent.payload, shown),
      label,
      isChange: kind === "change",
    });
    if (scope) report(scope, outcome.problems);
  };

  const fire = (field: Fields = new Map()): void => {
    if (!action || pending || container.busy) return;
    const scope = form?.element.current;
    if (scope && VALIDATING.has(kind) && !validate(scope)) return;
    const done = send(action, field);
    const loading =
      action.loadingBehavior === "auto" ? DEFAULTS.loading[kind] : action.loadingBehavior;
    if (loading === "container") container.hold(done);
    if (loading === "self") {
      setPending(true);
      void done.finally(() => setPending(false));
    }
  };
  const mark = { "data-action": action?.type };
  const isLocal = action !== undefined && stage.isLocal(action.type);
  return { pending, possible: !action || stage.can(action), isLocal, fire, mark };
}

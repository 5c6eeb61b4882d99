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

export type Trigger = ReturnType<typeof useTrigger>;

/** Submitting asks the form whether it is complete; all other actions carry it as it is. */
const VALIDATING: ReadonlySet<TriggerKind> = new Set(["submit", "confirm"]);

export function useTrigger(kind: TriggerKind, action: Action | undefined, label: string) {
  const stage = useContext(StageContext);
  const form = useContext(FormContext);
  const container = useContext(ContainerContext);
  const [pending, setPending] = useState(false);

  const send = async (sent: Action, field: Fields): Promise<void> => {
    const scope = form?.element.current;
    const { fields, shown } = scope ? collect(scope) : { fields: field, shown: field };
    const problems = await stage.act({
      action: sent,
      payload: withFields(sent.payload, fields),
      shownPayload: withFields(sent.payload, shown),
      label,
      isChange: kind === "change",
    });
    if (scope) report(scope, problems);
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
  return {
    /** The control shows that its action is under way. */
    pending,
    /** The host can take this action; a control without an action is merely inert. */
    possible: !action || stage.can(action),
    /** The action changes the page alone. */
    isLocal: action !== undefined && stage.isLocal(action.type),
    fire,
    /** For the element that a user acts on: which action that takes. */
    mark: { "data-action": action?.type },
  };
}

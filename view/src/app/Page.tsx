/** Draws a View. */

import type { CSSProperties } from "preact";
import { PushButton } from "../components/Button";
import { Glyph } from "../components/Glyph";
import { REGISTRY } from "../components/registry";
import { SurroundingsContext } from "../tree/component";
import { Nodes, RegistryContext } from "../tree/Nodes";
import { type Stage, StageContext } from "./stage";
import type { Notice, View } from "./view";

export function Page({ view, stage }: { view: View; stage: Stage }) {
  return (
    <RegistryContext.Provider value={REGISTRY}>
      <SurroundingsContext.Provider value={{ theme: view.theme }}>
        <StageContext.Provider value={stage}>
          <h1 class="hidden">{view.context.title ?? "Widget"}</h1>
          {view.tree ? <Nodes of={[view.tree]} /> : view.loading && <Skeleton />}
          <div class={`notices ${view.notice ? "" : "none"}`}>
            <div role="status">
              {view.notice && view.notice.kind !== "problem" && <NoticeLine {...view.notice} />}
            </div>
            {view.notice?.kind === "problem" && <NoticeLine {...view.notice} />}
          </div>
        </StageContext.Provider>
      </SurroundingsContext.Provider>
    </RegistryContext.Provider>
  );
}

function Skeleton() {
  return (
    <div
      class="framed-root"
      role="status"
      aria-label="Loading"
      style={{ "--widest": "440px" } as CSSProperties}
    >
      <div class="card skeleton">
        <div class="bone" style={{ width: "55%" }} />
        <div class="bone" style={{ width: "90%" }} />
        <div class="bone" style={{ width: "75%" }} />
      </div>
    </div>
  );
}

function NoticeLine({ kind, text, decide }: Notice) {
  return (
    <p class={`notice ${kind}`} role={kind === "problem" ? "alert" : undefined}>
      {kind === "busy" ? <span class="spinner" /> : <Glyph name={SIGNS[kind]} />}
      <span>
        {text.split("\n").map((line, place) => (
          <div key={place}>{line}</div>
        ))}
      </span>
      {decide &&
        (["Confirm", "Cancel"] as const).map((label, place) => (
          <PushButton
            key={label}
            label={label}
            color={place ? "secondary" : "primary"}
            variant={place ? "outline" : "solid"}
            size="xs"
            trigger={{ ...READY, fire: () => decide(!place) }}
          />
        ))}
    </p>
  );
}

const READY = { pending: false, possible: true, mark: { "data-action": undefined } } as const;

const SIGNS = {
  info: "info",
  sent: "check-circle",
  problem: "exclamation-mark-circle",
} as const;

/** The one mutable cell of the view: holds its state, and draws each change. */

import { h, render } from "preact";
import { type HostContext, readContext } from "../host/context";
import { readDirection } from "../style/direction";
import { applyPalette } from "../style/palette";
import { type WidgetNode, walk } from "../tree/node";
import type { Theme } from "../tree/read";
import { readFolderPalette } from "./inline";
import { Page } from "./Page";
import { wrapTightRows } from "./rows";
import type { IDLE, Stage } from "./stage";
import type { View } from "./view";

type Services = typeof IDLE & {
  /** Hears of every new picture. */
  drawn?(): void;
};

export class Screen {
  readonly #element: HTMLElement;
  readonly #services: Services;
  readonly #systemDark = matchMedia("(prefers-color-scheme: dark)");
  #view = makeBlank();

  constructor(element: HTMLElement, services: Services) {
    this.#element = element;
    this.#services = services;
    wrapTightRows(element);
    this.#systemDark.addEventListener("change", () => this.update({}));
  }

  get view(): View {
    return this.#view;
  }

  /** Shows the same picture with these changes; focus and typed values stay. */
  update(changes: Partial<View>): void {
    const next = { ...this.#view, ...changes };
    this.#view = { ...next, theme: next.context.theme ?? this.#systemTheme() };
    applyToDocument(this.#view);
    render(h(Page, { view: this.#view, stage: this.#stage() }), this.#element);
    this.#services.drawn?.();
  }

  /** Leaves nothing of what was shown. */
  clear(): void {
    render(null, this.#element);
    this.#view = makeBlank();
  }

  #stage(): Stage {
    const { context, icons, tree } = this.#view;
    return {
      ...this.#services,
      locale: chooseLocale(context),
      icons,
      labelled: listLabelled(tree),
    };
  }

  #systemTheme(): Theme {
    return this.#systemDark.matches ? "dark" : "light";
  }
}

const makeBlank = (): View => ({
  tree: undefined,
  icons: {},
  renderId: undefined,
  version: 1,
  loading: false,
  notice: undefined,
  theme: "light",
  context: readContext({}),
  palette: readFolderPalette(),
});

function listLabelled(tree: WidgetNode | undefined): ReadonlySet<string> {
  const nodes = tree ? [...walk(tree)] : [];
  return new Set(nodes.flatMap((node) => (node.type === "Label" ? String(node.fieldName) : [])));
}

const chooseLocale = ({ locale }: HostContext): string => locale ?? (navigator.language || "en");

function applyToDocument({ theme, context, palette }: View): void {
  const { documentElement: html } = document;
  html.dataset.theme = theme;
  html.dataset.displayMode = context.displayMode;
  const locale = chooseLocale(context);
  html.lang = locale;
  html.dir = readDirection(locale);
  document.title = context.title ?? "Widget";
  const { top, right, bottom, left } = context.insets;
  html.style.padding = `${top}px ${right}px ${bottom}px ${left}px`;
  applyPalette(context.variables, palette, theme);
}

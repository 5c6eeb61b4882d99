/**
 * Remembers actions that became messages to the model, which no server knows of.
 *
 * It needs an origin of the page's own, which a sandbox without `allow-same-origin` denies: there,
 * a view that is mounted again knows nothing of an earlier one. Payloads are not kept.
 */

const NAME = "widgetd";
/** Older entries give way: a host may serve all views of a server from one origin. */
const MOST_ENTRIES = 100;

interface Entry {
  readonly key: string;
  readonly renderId: string;
  readonly version: number;
  readonly type: string;
}

/** Returns the actions of this and earlier mounts, the latest last. */
export function readJournal(): readonly Entry[] {
  try {
    const entries: unknown = JSON.parse(localStorage.getItem(NAME) ?? "");
    return Array.isArray(entries) ? entries : [];
  } catch {
    return [];
  }
}

export function writeJournal(entry: Entry): void {
  try {
    const entries = [...readJournal(), entry].slice(-MOST_ENTRIES);
    localStorage.setItem(NAME, JSON.stringify(entries));
  } catch {
    // The host allows no storage.
  }
}

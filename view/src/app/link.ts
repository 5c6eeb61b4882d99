/** Opens an address in a window of its own; tells whether the browser let it. */
export function openWindow(url: string): boolean {
  const opened = window.open(url, "_blank");
  // A window opened with `noopener` cannot be told from one that was blocked.
  if (opened) opened.opener = null;
  return opened !== null;
}

/** Opens an address in a new window; returns whether the browser allowed it. */
export function openWindow(url: string): boolean {
  const opened = window.open(url, "_blank");
  // With `noopener`, a blocked window looks like an opened one.
  if (opened) opened.opener = null;
  return opened !== null;
}

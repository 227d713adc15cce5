/** Returns the namespace in a handler id: `Acme.Lab` for `Acme.Lab.Probe`. */
export function namespaceOf(handler: string): string {
  return handler.slice(0, Math.max(0, handler.lastIndexOf('.')));
}

/** Returns the type in a handler id: `Probe` for `Acme.Lab.Probe`. */
export function typeOf(handler: string): string {
  return handler.slice(handler.lastIndexOf('.') + 1);
}

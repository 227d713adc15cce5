/** `Acme.Lab.Probe` → `Acme.Lab` */
export function namespaceOf(handler: string): string {
  return handler.slice(0, Math.max(0, handler.lastIndexOf('.')));
}

/** `Acme.Lab.Probe` → `Probe` */
export function typeOf(handler: string): string {
  return handler.slice(handler.lastIndexOf('.') + 1);
}

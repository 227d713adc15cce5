'use client';

import { useReader } from '#app/_shell/reader.tsx';

/** Whether the reader may publish in this namespace. The portal checks it again. */
export function useMayPublish(namespace: string): boolean {
  const reader = useReader();
  return reader.role === 'admin' || (reader.role === 'publisher' && reader.namespaces.includes(namespace));
}

/** `Acme.Lab.Probe` → `Acme.Lab` */
export function namespaceOf(handler: string): string {
  return handler.slice(0, Math.max(0, handler.lastIndexOf('.')));
}

/** `Acme.Lab.Probe` → `Probe` */
export function typeOf(handler: string): string {
  return handler.slice(handler.lastIndexOf('.') + 1);
}

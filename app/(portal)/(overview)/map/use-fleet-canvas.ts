'use client';

import { useSyncExternalStore } from 'react';
import type { FleetCanvas } from './fleet-canvas.tsx';

interface Script {
  FleetCanvas?: typeof FleetCanvas;
  error?: Error;
}

const none: Script = {};
let script = none;
const listeners = new Set<() => void>();

function publish(next: Script): void {
  script = next;
  for (const listen of listeners) listen();
}

function load(): void {
  publish(none);
  import('./fleet-canvas.tsx').then(publish, (error: Error) => publish({ error }));
}

// Starts loading together with the card's script, in parallel with the page's data. React's `lazy` would start at the
// first render, and React waits up to a third of a second before it replaces a placeholder.
if (typeof window !== 'undefined') load();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Returns the canvas component once it is loaded. It is too large to be part of the page's script. `load` retries after
 * an error.
 */
export function useFleetCanvas(): Script & { load(): void } {
  const { FleetCanvas, error } = useSyncExternalStore(
    subscribe,
    () => script,
    () => none,
  );
  return { ...(FleetCanvas && { FleetCanvas }), ...(error && { error }), load };
}

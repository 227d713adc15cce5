'use client';

import { useSyncExternalStore } from 'react';
import type { FleetCanvas } from './fleet-canvas.tsx';

interface Script {
  /** The picture's component, once its script is there. */
  FleetCanvas?: typeof FleetCanvas;
  error?: Error;
}

const none: Script = {};
let script = none;
const listeners = new Set<() => void>();

function tell(next: Script): void {
  script = next;
  for (const listen of listeners) listen();
}

function load(): void {
  tell(none);
  import('./fleet-canvas.tsx').then(tell, (error: Error) => tell({ error }));
}

// It begins with the card's own script, beside the page's data. A lazy component would begin when it is drawn, and
// React holds back for a third of a second what replaces a placeholder.
if (typeof window !== 'undefined') load();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The picture's component, which is too large to be loaded before the page is there. */
export function useFleetCanvas(): Script & { load(): void } {
  const { FleetCanvas, error } = useSyncExternalStore(
    subscribe,
    () => script,
    () => none,
  );
  return { ...(FleetCanvas && { FleetCanvas }), ...(error && { error }), load };
}

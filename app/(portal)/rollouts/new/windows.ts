import type { WindowInput } from './definition.ts';
import type { RolloutForm } from './rollout-form.ts';

export const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof days)[number];

/** A window and the ring that it belongs to; null for every ring that has no windows itself. */
export interface PlacedWindow {
  ring: number | null;
  window: WindowInput;
}

/** Returns the windows of the rollout and of its rings as one list. */
export function windowsIn({ windows, rings }: Pick<RolloutForm, 'windows' | 'rings'>): PlacedWindow[] {
  return [
    ...windows.map((window) => ({ ring: null, window })),
    ...rings.flatMap((ring, index) => (ring.windows ?? []).map((window) => ({ ring: index, window }))),
  ];
}

/** Returns the parts of the form that hold these windows. */
export function withWindows(
  form: RolloutForm,
  windows: readonly PlacedWindow[],
): Pick<RolloutForm, 'windows' | 'rings'> {
  const of = (ring: number | null) => windows.filter((placed) => placed.ring === ring).map(({ window }) => window);
  return {
    windows: of(null),
    rings: form.rings.map((ring, index) => {
      const own = of(index);
      return own.length > 0 || ring.windows !== undefined ? { ...ring, windows: own } : ring;
    }),
  };
}

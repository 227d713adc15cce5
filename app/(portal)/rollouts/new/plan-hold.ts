'use client';

import { useState } from 'react';
import type { RolloutForm } from './rollout-form.ts';
import { type LoadedMatches, useMatches } from './use-matches.ts';

/** Above this many matches, planning waits for a request, because it takes seconds. */
const manualFrom = 50_000;

/** Whether planning waits for a request. */
export interface PlanHold {
  isHeld: boolean;
  /** Number of VMs that the filter matches. */
  matching: number;
  release(): void;
}

/** Returns whether the plan of this definition waits for a request, and a function that requests it. */
export function usePlanHold(form: RolloutForm, definition: object | null, matches: LoadedMatches | null): PlanHold {
  const matching = useMatches(form, matches).data?.matching ?? 0;
  const [released, setReleased] = useState<object | null>(null);
  return {
    isHeld: definition !== null && matching > manualFrom && released !== definition,
    matching,
    release: () => setReleased(definition),
  };
}

'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { reasonKey } from './reason-key.ts';
import type { ListedRollout, ShownReason } from './rollout-data.ts';

type Say = (key: string, values: Record<string, unknown>) => string;

/** Returns a function that says in one sentence why a rollout does not move, or what happens next. */
export function useReason(): (reason: ShownReason, rings: ListedRollout['rings']) => string {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  return (reason, rings) => {
    const { code, ring, params = {}, at } = reason;
    const numbers = Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'number' ? format.number(value) : value,
    ]);
    const values = {
      code,
      ...Object.fromEntries(numbers),
      ring: ring === undefined ? '' : (rings[ring]?.name ?? format.number(ring + 1)),
      at: at === undefined ? '' : format.dateTime(new Date(at), 'short'),
      ...(countOf(params) !== undefined && { count: countOf(params) }),
    };
    const say = t as unknown as Say;
    const key = reasonKey(reason);
    const text = say(`reason.${key}`, values);
    return text === `reason.${key}` ? say('reason.other', values) : text;
  };
}

/** The number on which the plural of the sentence depends. */
function countOf({ members, parked, open, inFlight }: NonNullable<ShownReason['params']>): number | undefined {
  const count = open ?? inFlight ?? parked ?? members;
  return typeof count === 'number' ? count : undefined;
}

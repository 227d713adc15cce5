import { z } from 'zod';
import { isTimeZone } from './zones.ts';

/** Percent with two decimal places at most; the value is in hundredths of a percent. */
export const percentShare = z
  .number()
  .min(0)
  .max(100)
  .refine((percent) => Math.abs(percent * 100 - Math.round(percent * 100)) < 1e-6, 'percent_places')
  .transform((percent) => Math.round(percent * 100));

const positiveShare = percentShare.refine((share) => share > 0, 'percent_zero');

/** A limit is a share or a number, never both. */
const either = <S extends z.ZodType<number>>(share: S, maxCount: number) =>
  z
    .strictObject({ percent: share.optional(), count: z.number().int().min(1).max(maxCount).optional() })
    .refine(({ percent, count }) => (percent === undefined) !== (count === undefined), 'limit_form')
    .transform(({ percent, count }) => (percent === undefined ? { count: count ?? 1 } : { share: percent }));

export const maxMembers = 1_000_000;
export const upToInput = either(positiveShare, maxMembers);
export const inFlightInput = either(positiveShare, 20_000);

/** The error gate: `count`, or `percent` of at least `atLeast` decided members. */
export const errorsInput = z
  .strictObject({
    percent: percentShare.optional(),
    count: z.number().int().min(1).max(maxMembers).optional(),
    atLeast: z.number().int().min(1).max(maxMembers).optional(),
  })
  .refine(({ percent, count }) => (percent === undefined) !== (count === undefined), 'limit_form')
  .refine(({ count, atLeast }) => count === undefined || atLeast === undefined, {
    path: ['atLeast'],
    error: 'limit_form',
  })
  .transform(({ percent, count, atLeast }) =>
    percent === undefined ? { count: count ?? 1 } : { share: percent, atLeast: atLeast ?? 1 },
  );

export const successInput = z
  .strictObject({ percent: percentShare, atLeast: z.number().int().min(1).max(maxMembers).default(1) })
  .transform(({ percent, atLeast }) => ({ share: percent, atLeast }));

export const compareInput = z
  .strictObject({
    minEffectPercent: percentShare.default(100),
    minPairs: z.number().int().min(1).max(1_000).default(50),
    onTooFew: z.enum(['goOn', 'pause']).default('goOn'),
  })
  .transform(({ minEffectPercent, ...rest }) => ({ minEffectShare: minEffectPercent, ...rest }));

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'time_of_day_form');

/** A maintenance window. Its name of a time zone is checked against the time zones that the portal knows. */
export const windowInput = z
  .strictObject({
    days: z
      .array(z.enum(days))
      .min(1)
      .max(7)
      .transform((given) => days.filter((day) => given.includes(day))),
    from: timeOfDay,
    to: timeOfDay,
    timeZone: z.string().max(100).refine(isTimeZone, 'time_zone_unknown'),
  })
  .refine(({ from, to }) => from !== to, { path: ['to'], error: 'window_empty' });

export const windowsInput = z.array(windowInput).max(14);

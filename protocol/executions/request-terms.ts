import { z } from 'zod';
import { boundedText } from '../file.ts';
import { namedValues } from '../named-values.ts';
import { isWithinDepth } from './json-faults.ts';
import { executionLimits } from './limits.ts';

const { timeoutSeconds: timeLimits, validForSeconds: validLimits } = executionLimits;
const seconds = ({ least, most }: { least: number; most: number }) => z.int().min(least).max(most);

/** How long an execution may take on the machine, and how long it may wait before it is delivered. */
export const timeoutSeconds = seconds(timeLimits);
export const validForSeconds = seconds(validLimits);

/** Maximum number of secret parameters. */
const maxSecrets = 200;

/** Secret parameters by their names. */
export const secretParameters = namedValues(boundedText(executionLimits.idBytes), z.unknown())
  .refine((values) => isWithinDepth(values), { error: 'json_too_deep', params: { limit: executionLimits.planDepth } })
  .refine((values) => Object.keys(values).length <= maxSecrets, {
    error: 'field_too_many',
    params: { maximum: maxSecrets },
  });

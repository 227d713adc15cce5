import type { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { completeDefinition } from '#server/domain/rollout-rules/complete.ts';
import { rolloutInput } from '#server/domain/rollout-rules/input.ts';
import type { Definition, Strategy } from '#server/domain/rollout-rules/stored.ts';
import type { FleetFields } from '#server/domain/fleet-field.ts';
import { memoize } from '#server/platform/memoize.ts';
import { selectionFilter } from './selection-filter.ts';
import { findStrategy } from './find-strategy.ts';

/** Returns the schema of a rollout's definition, with the portal's filter fields. */
export const definitionInput = memoize((fields: FleetFields) => rolloutInput(selectionFilter(fields)));
export type DefinitionInput = z.input<ReturnType<typeof definitionInput>>;

/** A definition with every default filled in. `given` are the protected settings of its change. */
export interface ReadDefinition {
  name: string;
  note: string | null;
  kind: 'rollout' | 'bulk';
  definition: Definition;
  given?: unknown;
}

/** Parses and completes a definition. Throws 404 `strategy_unknown`, 422 `invalid` with every fault. */
export async function readDefinition(tx: Transaction, ctx: Context, input: DefinitionInput): Promise<ReadDefinition> {
  const parsed = parse(definitionInput(ctx.fleetFields), input);
  const { name, note = null, kind = 'rollout' } = parsed;
  const strategy = await findStrategy(tx, parsed.strategy ?? (kind === 'bulk' ? 'at-once' : 'careful'));
  const { definition, faults } = completeDefinition(parsed, strategy);
  if (faults.length > 0) throw new DomainError('unprocessable', 'invalid', { faults: faults as Fault[] });
  const given = (parsed.change as { protectedSettings?: unknown }).protectedSettings;
  return { name, note, kind, definition, ...(definition.change.protectedSettings === 'given' && { given }) };
}

/** Parses the rings and gates of a strategy. Throws 422 `invalid` with every fault. */
export function readStrategyTerms(_ctx: Context, given: Readonly<Record<string, unknown>>): Strategy {
  return given as unknown as Strategy;
}

import type { z } from 'zod';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import type { FleetFields } from '#server/domain/fleet-field.ts';
import { parse } from '#server/domain/parse.ts';
import {
  completeDefinition,
  completeStrategy,
  type DefinitionFault,
  strategyOf,
} from '#server/domain/rollout-rules/complete.ts';
import { rolloutInput, strategyInput } from '#server/domain/rollout-rules/input.ts';
import { hasSecrets } from '#server/domain/rollout-rules/run-input.ts';
import { filterInput } from '#server/domain/rollout-rules/select-input.ts';
import type { Definition, Strategy } from '#server/domain/rollout-rules/stored.ts';
import type { RolloutKind } from '#server/domain/rollout-rules/words.ts';
import { memoize } from '#server/platform/memoize.ts';
import { findStrategy } from './find-strategy.ts';
import { readRun } from './read-run.ts';
import type { StoredRollout } from './rows.ts';

const definitionInput = memoize((fields: FleetFields) => rolloutInput(filterInput(fields)));
export type DefinitionInput = z.input<ReturnType<typeof definitionInput>>;

const strategyTerms = memoize((fields: FleetFields) => strategyInput(filterInput(fields)));
export type StrategyTerms = z.input<ReturnType<typeof strategyTerms>>;

/** A definition with every default filled in. `given` are the protected settings or secret parameters of its change. */
export interface ReadDefinition {
  name: string;
  note: string | null;
  kind: RolloutKind;
  definition: Definition;
  given?: unknown;
}

export type ParsedDefinition = z.output<ReturnType<typeof definitionInput>>;

/** Parses a definition. Throws 422 `invalid` with every fault. */
export function parseDefinition(ctx: Pick<Context, 'fleetFields'>, input: DefinitionInput): ParsedDefinition {
  return parse(definitionInput(ctx.fleetFields), input);
}

/**
 * Fills in every default of a definition. `before` is the rollout whose definition it replaces; its strategy may be deleted.
 * Throws 404 `strategy_unknown`, 422 `invalid` with every fault, and 422 `definition_too_large`.
 */
export async function readDefinition(
  ctx: Context,
  parsed: ParsedDefinition,
  before?: StoredRollout,
): Promise<ReadDefinition> {
  const strategy = await findStrategy(ctx.db, strategyOf(parsed), before?.definition);
  const { definition, faults } = completeDefinition(parsed, strategy);
  requireSound(faults);
  if (parsed.change.kind === 'run') definition.change = await readRun(ctx, parsed.change, definition.change, before);
  const limit = ctx.config.limits.rollouts.definitionBytes;
  if (Buffer.byteLength(JSON.stringify(definition)) > limit) {
    throw new DomainError('unprocessable', 'definition_too_large', { params: { limit } });
  }
  const { name, note = null, kind, change } = parsed;
  const given = change.kind === 'run' ? change.secretParameters : change.protectedSettings;
  const isGiven = hasSecrets(definition.change) && given != null;
  return { name, note, kind, definition, ...(isGiven && { given }) };
}

/** Parses and completes a strategy. Throws 422 `invalid` with every fault. */
export function readStrategy(ctx: Context, input: StrategyTerms): { strategy: Strategy; automaticFor: string[] } {
  const parsed = parse(strategyTerms(ctx.fleetFields), input);
  const { strategy, faults } = completeStrategy(parsed);
  requireSound(faults);
  return { strategy, automaticFor: parsed.automaticFor };
}

function requireSound(faults: readonly DefinitionFault[]): void {
  if (faults.length > 0) throw new DomainError('unprocessable', 'invalid', { faults });
}

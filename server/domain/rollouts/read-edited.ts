import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import type { Definition } from '#server/domain/rollout-rules/stored.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { type DefinitionInput, parseDefinition, type ReadDefinition, readDefinition } from './read-definition.ts';
import type { StoredRollout } from './rows.ts';
import { shownDefinition } from './shown-definition.ts';

/** What the portal decides in reverts and automatic rollouts. Later matches always join an automatic rollout. */
const fixed = ['kind', 'strategy', 'select', 'change'] as const;
const fixedOf = ({ kind }: StoredRollout) => (kind === 'automatic' ? ([...fixed, 'newcomers'] as const) : fixed);

/**
 * Reads the definition that replaces the one of a rollout. In a rollout that the portal created, the selection and the
 * change must be the current ones, and so must `newcomers` in an automatic one. Throws 404 `strategy_unknown`, 409
 * `rollout_fixed`, 422 with every fault.
 */
export async function readEdited(ctx: Context, row: StoredRollout, given: unknown): Promise<ReadDefinition> {
  const { definition } = row;
  if (!isOfPortal(row)) return readDefinition(ctx, parseDefinition(ctx, given as DefinitionInput), row);
  const shown = shownDefinition(ctx, row, { withSettings: true });
  const fields: Record<string, unknown> = typeof given === 'object' && given !== null ? { ...given } : {};
  const changed = fixedOf(row).filter(
    (name) => name in fields && canonicalJson(fields[name]) !== canonicalJson(shown[name]),
  );
  if (changed.length > 0) {
    const faults = changed.map((name) => ({ path: `/${name}`, code: 'rollout_fixed' as const }));
    throw new DomainError('conflict', 'rollout_fixed', { faults });
  }
  const parsed = parseDefinition(ctx, { ...fields, ...anyChange, strategy: definition.strategy } as DefinitionInput);
  return fixedByPortal(row, await readDefinition(ctx, parsed, row));
}

/** Returns what was read, with everything that the portal decided in the rollout. */
export function fixedByPortal(row: StoredRollout, read: ReadDefinition): ReadDefinition {
  if (!isOfPortal(row)) return read;
  const { strategy, select, change } = row.definition;
  const joins = row.kind === 'automatic' && { newcomers: row.definition.newcomers };
  const definition: Definition = { ...read.definition, ...joins, strategy, select, change };
  return { ...read, kind: row.kind, definition };
}

/** Whether the portal created a rollout; requests cannot name its kind. */
const isOfPortal = ({ kind }: StoredRollout): boolean => kind === 'revert' || kind === 'automatic';

/** A selection and a change that every request may have. They are replaced by those of the rollout. */
const anyChange = { kind: 'rollout', select: { all: true }, change: { kind: 'revert' } } as const;

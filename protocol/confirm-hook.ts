import type { DueHook } from './hooks.ts';
import type { RelationRecord, UnitRecord } from './unit-record.ts';

/** Returns the part of a record's `failing` that a hook belongs to: the unit, or one relation. */
export function slotOf({ relation }: Pick<DueHook, 'relation'>): string {
  return relation === undefined ? 'unit' : String(relation.id);
}

/**
 * Returns the record after a hook that ended with 0, or that counts as done. It confirms the versions that were known
 * when the hook began, so a change that arrived meanwhile is still due (EN-37).
 */
export function confirmHook(record: UnitRecord, due: DueHook, { isSkipped = false } = {}): UnitRecord {
  const { [slotOf(due)]: _, ...failing } = record.failing;
  const others = record.skipped.filter((hook) => hook !== due.hook);
  const skipped = isSkipped ? [...others, due.hook] : others;
  return { ...record, ...confirmedBy(due, record), failing, skipped };
}

function confirmedBy(due: DueHook, record: UnitRecord): Partial<UnitRecord> {
  const { kind, formula, settings, address } = due;
  const { boot } = record;
  switch (kind) {
    case 'install':
    case 'upgrade-formula':
      return { formula };
    case 'config-changed':
      return { configured: { settings, formula, boot, ...(address !== undefined && { address }) } };
    case 'start':
      return { started: { boot } };
    case 'stop':
      return { stopped: true };
    default:
      return { relations: relationsAfter(due, record.relations) };
  }
}

function relationsAfter(due: DueHook, relations: UnitRecord['relations']): UnitRecord['relations'] {
  const { kind, relation, remoteUnit = '', version = null } = due;
  if (relation === undefined) return relations;
  const { id, name } = relation;
  const members: RelationRecord['members'] = { ...relations[id]?.members };
  if (kind === 'joined') members[remoteUnit] = null;
  else if (kind === 'changed') members[remoteUnit] = version;
  else if (kind === 'departed') delete members[remoteUnit];
  const isBroken = kind === 'broken';
  return { ...relations, [id]: { name, members: isBroken ? {} : members, broken: isBroken } };
}

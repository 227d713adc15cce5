import type { ShownReason } from './rollout-data.ts';

/** Returns the key of a reason's sentence below `reason.`. Some reasons have several sentences. */
export function reasonKey({ code, params = {}, at }: Pick<ShownReason, 'code' | 'params' | 'at'>): string {
  if (code === 'person') return params.reason === undefined ? 'person' : 'person.why';
  if (code === 'window_closed') return at === undefined ? 'window_closed.never' : code;
  if (code === 'plan_empty') return params.matched === 0 ? 'plan_empty.unmatched' : emptyKey(params);
  if (code === 'plan_moved_on') {
    const { cause } = params;
    return cause === 'members' || cause === 'overlap' || cause === 'restored' ? `plan_moved_on.${cause}` : code;
  }
  return code;
}

/** VMs match, but the plan has no members. */
const emptyKey = ({ refused }: NonNullable<ShownReason['params']>): string =>
  refused === 0 ? 'plan_empty' : 'plan_empty.refused';

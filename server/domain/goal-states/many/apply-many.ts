import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import type { Cause } from '../publish.ts';
import type { Applied, MemberRequest } from './change.ts';

/**
 * Applies each change to its VM in the caller's transaction. A VM whose change is rejected, or that another transaction
 * is changing, does not affect the others: the result says so. The number of statements does not depend on the number
 * of VMs.
 */
export async function applyMany(
  _tx: Transaction,
  _ctx: Context,
  _requests: readonly MemberRequest[],
  _cause: Cause,
): Promise<Map<string, Applied>> {
  return new Map();
}

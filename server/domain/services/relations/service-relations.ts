import type { Transaction } from '#db/client.ts';
import type { FormulaManifest } from '#protocol/formula.ts';
import type { Moving } from './participants.ts';

/** Creates the peer relations that a service's formula declares, and ends those that it no longer declares. */
export function setPeerRelations(
  _tx: Transaction,
  _ctx: Moving & { actor: { name: string } },
  _service: { id: string; modelId: string },
  _manifest: Pick<FormulaManifest, 'peers'>,
): Promise<void> {
  throw new Error('relations have no tables');
}

/** Begins to end all relations of a service that is being removed. Returns the services of which a relation ended. */
export function endRelationsOf(
  _tx: Transaction,
  _ctx: Moving,
  _serviceId: string,
): Promise<{ endedServices: string[] }> {
  throw new Error('relations have no tables');
}

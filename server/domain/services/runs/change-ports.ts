import { and, eq, or } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { unitPorts } from '#db/schema/index.ts';
import type { UnitRunEnd } from '#protocol/unit-runs.ts';
import type { Context } from '#server/domain/context.ts';
import { changeUnitPorts, type UnitPort } from '#server/domain/topology/index.ts';
import type { UnitRow } from './find-unit.ts';

/**
 * Stores the ports that a hook opened and closed, and opens and closes them on the machine (EN-62). Throws 422
 * `port_conflict` | `endpoints_too_many`.
 */
export async function changePorts(
  tx: Transaction,
  ctx: Context,
  unit: UnitRow,
  run: string,
  ports: NonNullable<UnitRunEnd['ports']>,
): Promise<void> {
  const [open, close] = [ports.open.map(portOf), ports.close.map(portOf)];
  const { id: unitId, vmId, name } = unit;
  if (close.length > 0) {
    const named = close.map(({ protocol, port }) => and(eq(unitPorts.protocol, protocol), eq(unitPorts.port, port)));
    await tx.delete(unitPorts).where(and(eq(unitPorts.unitId, unitId), or(...named)));
  }
  if (open.length > 0) {
    await tx
      .insert(unitPorts)
      .values(open.map((port) => ({ ...port, unitId, openedRun: run, openedAt: ctx.now })))
      .onConflictDoNothing();
  }
  await changeUnitPorts(tx, ctx, { vmId, unit: name, open, close });
}

function portOf(text: string): UnitPort {
  const [port, protocol] = text.split('/');
  return { port: Number(port), protocol: protocol === 'udp' ? 'udp' : 'tcp' };
}

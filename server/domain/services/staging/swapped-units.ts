import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { cloudServices, handlerVersions, services, units, vmRoles } from '#db/schema/index.ts';

/** Reads the units of a cloud service that were not removed. */
export const readUnitsOf = (tx: Transaction, cloudService: string) =>
  tx
    .select({
      ...{ id: units.id, name: units.name, vmId: units.vmId, life: units.life, record: units.record },
      ...{ deployment: vmRoles.deployment, serviceId: units.serviceId, publicAddress: cloudServices.publicAddress },
      manifest: handlerVersions.manifest,
    })
    .from(units)
    .innerJoin(vmRoles, eq(vmRoles.vmId, units.vmId))
    .innerJoin(cloudServices, eq(cloudServices.name, vmRoles.cloudService))
    .innerJoin(services, eq(services.id, units.serviceId))
    .innerJoin(
      handlerVersions,
      and(eq(handlerVersions.handler, services.formula), eq(handlerVersions.version, units.formulaVersion)),
    )
    .where(and(eq(vmRoles.cloudService, cloudService), isNull(units.removedAt)))
    .orderBy(services.name, units.number);
export type SwappedUnit = Awaited<ReturnType<typeof readUnitsOf>>[number];

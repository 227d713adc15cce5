import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import { Num } from '#app/_ui/num.tsx';
import type { PackageKind } from '#protocol/formula-words.ts';
import type { FleetFilter } from '#server/domain/fleet/index.ts';

/** Returns the filter of the VMs that use a handler, or that have a unit of a formula. */
export const filterOfUse = ({ kind, handler }: { kind: PackageKind; handler: string }): FleetFilter =>
  kind === 'formula' ? ({ unitOf: handler } as FleetFilter) : { handler };

/** A number of VMs, with a link to the list of exactly these VMs. */
export function VmsLink({ filter, vms }: { filter: FleetFilter; vms: number }) {
  const { t } = useTranslation('packages');
  return (
    <Link href={vmsAddress(filter)} prefetch={false} data-count={vms} className="rounded-xs hover:underline">
      <Num value={vms} /> {t('fact.vms', { count: vms })}
    </Link>
  );
}

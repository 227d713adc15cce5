import type { Metadata } from 'next';
import { cookies } from 'next/headers';
import { cookieNames } from '#app/_lib/cookies.ts';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, runtime } from '#app/_lib/portal.ts';
import { Page } from '#app/_shell/page.tsx';
import { readLook } from './columns.ts';
import { readAddress } from './fleet-address.ts';
import { blockSize } from './reading.ts';
import { VmList } from './vm-list.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('vms');
  return { title: t('title') };
}

type SearchParams = Promise<Record<string, string | string[] | undefined>>;

/** The page that lists the VMs of the fleet, with filters by name, tag, health, handler or message. */
export default async function VmsPage({ searchParams }: { searchParams: SearchParams }) {
  const [{ t }, api, jar, given] = await Promise.all([words('vms'), portal(), cookies(), searchParams]);
  const fields = await api.fleet.fields();
  const { query } = readAddress(fields, parametersOf(given));
  const at = Date.now();
  const [page, summary] = await Promise.all([
    api.fleet.list({ ...query.filter, sort: query.sort, limit: blockSize, counted: true }),
    // The list is useful even without the counts of the quick views.
    api.fleet.summary().catch(() => null),
  ]);
  return (
    <Page crumbs={[{ label: t('title') }]}>
      <Words namespaces={['vms', 'reports', 'overview']}>
        <VmList
          first={{ query, page, at }}
          summary={summary}
          look={readLook(jar.get(cookieNames.fleetLook)?.value)}
          fields={fields}
          gatewayUrl={runtime().config.gatewayUrl}
        />
      </Words>
    </Page>
  );
}

function parametersOf(given: Awaited<SearchParams>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(given).flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one])),
  );
}

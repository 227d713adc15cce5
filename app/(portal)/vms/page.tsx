import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, runtime } from '#app/_lib/portal.ts';
import { Page } from '#app/_shell/page.tsx';
import { VmList } from './vm-list.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('vms');
  return { title: t('title') };
}

/** The fleet by name: what is wrong with which VM, and the way to enrol another. */
export default async function VmsPage({ searchParams }: { searchParams: Promise<{ q?: string | string[] }> }) {
  const { t } = await words('vms');
  const { q } = await searchParams;
  const search = (typeof q === 'string' ? q : '').slice(0, 200);
  const first = await (await portal()).vms.list({ q: search, limit: 100 });
  return (
    <Page crumbs={[{ label: t('title') }]}>
      <Words namespaces={['vms', 'reports']}>
        <VmList search={search} first={first} gatewayUrl={runtime().config.gatewayUrl} />
      </Words>
    </Page>
  );
}

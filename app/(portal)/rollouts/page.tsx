import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { Page } from '#app/_shell/page.tsx';
import { pageSize } from './rollout-data.ts';
import { filterOfAddress, queryOfFilter } from './rollouts-address.ts';
import { RolloutsPage } from './rollouts-page.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('rollouts');
  return { title: t('list.title') };
}

interface Props {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

/** The rollouts: those that need a person, other open ones, then those that have ended. */
export default async function RolloutsRoute({ searchParams }: Props) {
  const { t } = await words('rollouts');
  const filter = filterOfAddress(await searchParams);
  const first = await (await portal()).rollouts.list({ ...queryOfFilter(filter), limit: pageSize });
  return (
    <Page crumbs={[{ label: t('list.title') }]}>
      <Words namespaces={['rollouts']}>
        <RolloutsPage filter={filter} first={first} readAt={Date.now()} />
      </Words>
    </Page>
  );
}

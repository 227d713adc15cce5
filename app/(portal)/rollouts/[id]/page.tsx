import type { Metadata } from 'next';
import { cache } from 'react';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { RolloutPage } from './rollout-page.tsx';
import { stepsFilterOf } from './steps-address.ts';

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: (await read((await params).id)).name };
}

/** One rollout: why it is in its current state, its rings, gates and VMs. */
export default async function RolloutRoute({ params, searchParams }: Props) {
  const [{ t }, { id }, asked] = await Promise.all([words('rollouts'), params, searchParams]);
  const first = await read(id);
  return (
    <Page
      crumbs={[
        { label: t('list.title'), href: '/rollouts' },
        { label: first.name, isName: true },
      ]}
    >
      <Words namespaces={['rollouts', 'activity']}>
        <RolloutPage key={first.id} first={first} readAt={Date.now()} filter={stepsFilterOf(asked)} />
      </Words>
    </Page>
  );
}

const read = cache(async (id: string) => orNotFound((await portal()).rollouts.get({ id })));

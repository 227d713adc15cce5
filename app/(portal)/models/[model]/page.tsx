import type { Metadata } from 'next';
import { cache } from 'react';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { ModelPage } from './model-page.tsx';

interface Props {
  params: Promise<{ model: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: (await read((await params).model)).name };
}

/** One model: its cloud services with their machines, and what needs somebody. */
export default async function ModelRoute({ params }: Props) {
  const [{ t }, { model: name }] = await Promise.all([words('models'), params]);
  const first = await read(name);
  const { models } = await portal();
  const [topology, machines] = await Promise.all([
    // If one of these cannot be read, its card says so.
    models.topology({ model: first.name }).catch(() => undefined),
    models.machines({ model: first.name }).catch(() => undefined),
  ]);
  return (
    <Page
      crumbs={[
        { label: t('title'), href: '/models' },
        { label: first.name, isName: true },
      ]}
    >
      <Words namespaces={['models', 'reports', 'overview']}>
        <ModelPage key={first.name} first={first} topology={topology} machines={machines} readAt={Date.now()} />
      </Words>
    </Page>
  );
}

const read = cache(async (name: string) =>
  orNotFound((await portal()).models.get({ model: decodeURIComponent(name).slice(0, 100) })),
);

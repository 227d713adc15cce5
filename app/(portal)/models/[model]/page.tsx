import type { Metadata } from 'next';
import { cache } from 'react';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { vmHealths } from '#server/domain/verdicts/words.ts';
import { ModelPage } from './model-page.tsx';
import { modelViews } from './model-views.ts';
import { recentRuns } from './services/[service]/latest-runs.ts';

interface Props {
  params: Promise<{ model: string }>;
  searchParams: Promise<{ view?: string | string[]; health?: string | string[] }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: (await read((await params).model)).name };
}

/** One model: its services with their units, its cloud services with their machines, and what needs attention. */
export default async function ModelRoute({ params, searchParams }: Props) {
  const [{ t }, { model: name }, { view, health }] = await Promise.all([words('models'), params, searchParams]);
  const first = await read(name);
  const { models, services, relations } = await portal();
  const input = { model: first.name };
  const [states, links, runs, topology, machines] = await Promise.all([
    // If one of these cannot be read, its card says so.
    services.states(input).catch(() => undefined),
    relations.list(input).catch(() => undefined),
    services.runs({ ...input, limit: recentRuns }).catch(() => undefined),
    models.topology(input).catch(() => undefined),
    models.machines(input).catch(() => undefined),
  ]);
  return (
    <Page
      crumbs={[
        { label: t('title'), href: '/models' },
        { label: first.name, isName: true },
      ]}
    >
      <Words namespaces={['models', 'services', 'reports', 'overview']}>
        <ModelPage
          key={first.name}
          view={modelViews.find((each) => each === view)}
          health={vmHealths.find((each) => each === health)}
          first={first}
          services={states}
          relations={links}
          runs={runs}
          topology={topology}
          machines={machines}
          readAt={Date.now()}
        />
      </Words>
    </Page>
  );
}

const read = cache(async (name: string) =>
  orNotFound((await portal()).models.get({ model: decodeURIComponent(name).slice(0, 100) })),
);

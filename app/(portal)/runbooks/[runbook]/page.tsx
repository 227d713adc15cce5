import type { Metadata } from 'next';
import { cache } from 'react';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { pageSize } from '#app/(portal)/executions/execution-data.ts';
import { RunbookView } from './runbook-view.tsx';

interface Props {
  params: Promise<{ runbook: string }>;
  searchParams: Promise<{ version?: string | string[] }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: (await read((await params).runbook)).title };
}

/** One runbook: its versions, their plans and parameters, and where it ran. */
export default async function RunbookPage({ params, searchParams }: Props) {
  const [{ t }, { runbook: name }, { version: wanted }] = await Promise.all([words('runbooks'), params, searchParams]);
  const [first, { runbooks, executions }] = await Promise.all([read(name), portal()]);
  const shown = first.versions.find(({ version }) => version === wanted)?.version ?? leading(first);
  const [version, runs] = await Promise.all([
    orNotFound(runbooks.version({ name: first.name, version: shown })),
    executions.list({ runbook: first.name, limit: pageSize }),
  ]);
  return (
    <Page
      crumbs={[
        { label: t('title'), href: '/runbooks' },
        { label: first.title, isName: true },
      ]}
    >
      <Words namespaces={['runbooks', 'executions']}>
        <RunbookView key={shown} first={first} firstVersion={version} firstRuns={runs} readAt={Date.now()} />
      </Words>
    </Page>
  );
}

const read = cache(async (name: string) =>
  orNotFound((await portal()).runbooks.get({ name: decodeURIComponent(name).slice(0, 64) })),
);

/** Returns the version to show by default: the newest published version or, if none is published, the newest. */
const leading = ({ published, versions }: Awaited<ReturnType<typeof read>>): string =>
  published ?? versions[0]?.version ?? '';

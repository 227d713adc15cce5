import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { Page } from '#app/_shell/page.tsx';
import { RunbookList } from './runbook-list.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('runbooks');
  return { title: t('title') };
}

/** The runbooks, with their newest versions and how their last executions ended. */
export default async function RunbooksPage({ searchParams }: { searchParams: Promise<{ q?: string | string[] }> }) {
  const { t } = await words('runbooks');
  const { q } = await searchParams;
  const search = (typeof q === 'string' ? q : '').slice(0, 200);
  const first = await (await portal()).runbooks.list({ q: search });
  return (
    <Page crumbs={[{ label: t('title') }]}>
      <Words namespaces={['runbooks']}>
        <RunbookList search={search} first={first} readAt={Date.now()} />
      </Words>
    </Page>
  );
}

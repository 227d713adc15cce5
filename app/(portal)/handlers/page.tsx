import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, runtime } from '#app/_lib/portal.ts';
import { Page } from '#app/_shell/page.tsx';
import { packageKinds } from '#protocol/formula-words.ts';
import { HandlerList } from './handler-list.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('packages');
  return { title: t('title') };
}

/** The catalog: handlers and formulas, their versions and their VMs. */
export default async function HandlersPage({
  searchParams,
}: {
  searchParams: Promise<{ q?: string | string[]; kind?: string | string[] }>;
}) {
  const { t } = await words('packages');
  const { q, kind } = await searchParams;
  const search = (typeof q === 'string' ? q : '').slice(0, 200);
  const shown = packageKinds.find((one) => one === kind);
  const first = await (await portal()).handlers.list({ kind: shown, q: search, limit: 100 });
  return (
    <Page crumbs={[{ label: t('title') }]}>
      <Words namespaces={['packages']}>
        <HandlerList search={search} kind={shown ?? 'all'} first={first} url={runtime().config.url} />
      </Words>
    </Page>
  );
}

import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { CompareView } from './compare-view.tsx';

interface Props {
  params: Promise<{ handler: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { t } = await words('packages');
  return { title: `${t('compare.title')}, ${decodeURIComponent((await params).handler)}` };
}

/** Compares two versions of a handler; by default, the highest version and the next lower version. */
export default async function ComparePage({ params, searchParams }: Props) {
  const { t } = await words('packages');
  const api = await portal();
  const found = await orNotFound(api.handlers.get({ handler: decodeURIComponent((await params).handler) }));
  const { handler, type } = found;
  const versions = found.versions.map(({ version }) => version);
  const asked = await searchParams;
  const named = (value: string | string[] | undefined): string | undefined =>
    typeof value === 'string' && value !== '' ? value : undefined;
  const b = named(asked.b) ?? versions[0] ?? '';
  const a = named(asked.a) ?? versions[versions.indexOf(b) + 1] ?? b;
  const first = await orNotFound(api.handlers.compare({ handler, a, b }));
  return (
    <Page
      crumbs={[
        { label: t('title'), href: '/handlers' },
        { label: type, href: `/handlers/${handler}`, isName: true },
        { label: t('compare.title') },
      ]}
    >
      <Words namespaces={['packages', 'localization']}>
        <CompareView handler={handler} type={type} versions={versions} first={first} />
      </Words>
    </Page>
  );
}

import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { cache } from 'react';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { modelHref } from '../../../model-data.ts';
import { relationTitle } from '../relation-data.ts';
import { RelationPage } from './relation-page.tsx';

interface Props {
  params: Promise<{ model: string; relation: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { model, relation } = await params;
  return { title: `${relationTitle(await read(model, relation))} · ${decodeURIComponent(model)}` };
}

/** One relation: the settings of its units, now and at every change, and who has seen them. */
export default async function RelationRoute({ params }: Props) {
  const [{ t }, { model: part, relation }] = await Promise.all([words('models'), params]);
  const [model, first] = [decodeURIComponent(part), await read(part, relation)];
  return (
    <Page
      crumbs={[
        { label: t('title'), href: '/models' },
        { label: model, href: modelHref(model), isName: true },
        { label: relationTitle(first), isName: true },
      ]}
    >
      <Words namespaces={['models', 'services', 'reports', 'overview', 'executions']}>
        <RelationPage key={`${model} ${first.number}`} model={model} first={first} readAt={Date.now()} />
      </Words>
    </Page>
  );
}

const read = cache(async (model: string, part: string) => {
  if (!/^[1-9]\d{0,9}$/.test(part) || Number(part) >= 2 ** 31) notFound();
  const { relations } = await portal();
  return orNotFound(relations.get({ model: decodeURIComponent(model).slice(0, 100), number: Number(part) }));
});

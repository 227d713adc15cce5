import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { cache } from 'react';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, reader } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { modelHref } from '../../../model-data.ts';
import { isUnseen, unitsBehind } from '../moments.ts';
import {
  eventsPageSize,
  momentOf,
  type RelationParts,
  relationTitle,
  type ShownRelationDetails,
} from '../relation-data.ts';
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
  const parts = await readParts(model, first);
  return (
    <Page
      crumbs={[
        { label: t('title'), href: '/models' },
        { label: model, href: modelHref(model), isName: true },
        { label: relationTitle(first), isName: true },
      ]}
    >
      <Words namespaces={['models', 'services', 'reports', 'overview', 'executions', 'activity']}>
        <RelationPage key={`${model} ${first.number}`} model={model} first={first} parts={parts} readAt={Date.now()} />
      </Words>
    </Page>
  );
}

/** Larger parts are loaded by the page, so that the document stays small. */
const maxCharacters = 200_000;

/** Reads the cards of the page, so that nothing moves while the page loads. If a part cannot be read, its card says so. */
async function readParts(model: string, { number, failing: fails }: ShownRelationDetails): Promise<RelationParts> {
  const [{ relations }, who] = await Promise.all([portal(), reader()]);
  const name = { model, number };
  const may = who?.role === 'operator' || who?.role === 'admin';
  const [nodes, settings, events, failing] = await Promise.all([
    may ? undefined : relations.nodes(name).catch(() => undefined),
    may ? relations.settings(name).catch(() => undefined) : undefined,
    relations.events({ ...name, limit: eventsPageSize }).catch(() => undefined),
    fails > 0 ? relations.failing(name).catch(() => undefined) : undefined,
  ]);
  const read = settings ?? nodes;
  const moment = read && momentOf(read);
  const unseen = moment?.nodes.find((node) => isUnseen(node, moment.nodes));
  const readers = unseen && (await relations.readers({ ...name, unit: unseen.unit }).catch(() => undefined));
  return {
    ...{ nodes: small(nodes), settings: small(settings), events: small(events), failing: small(failing) },
    // The card above the settings names one unit.
    readers: readers && { ...readers, readers: unitsBehind(readers).slice(0, 1) },
  };
}

const small = <Part,>(part: Part): Part | undefined =>
  JSON.stringify(part ?? null).length > maxCharacters ? undefined : part;

const read = cache(async (model: string, part: string) => {
  if (!/^[1-9]\d{0,9}$/.test(part) || Number(part) >= 2 ** 31) notFound();
  const { relations } = await portal();
  return orNotFound(relations.get({ model: decodeURIComponent(model).slice(0, 100), number: Number(part) }));
});

import type { Metadata } from 'next';
import { cache } from 'react';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { vmHealths } from '#server/domain/verdicts/words.ts';
import { modelHref } from '../../../model-data.ts';
import { recentRuns } from './latest-runs.ts';
import { ServicePage } from './service-page.tsx';

interface Props {
  params: Promise<{ model: string; service: string }>;
  searchParams: Promise<{ health?: string | string[] }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { model, service } = await params;
  const { items } = await read(model, service);
  return { title: `${items[0]?.name} · ${(await readModel(model)).name}` };
}

/** One service: its units, settings, relations and hooks. */
export default async function ServiceRoute({ params, searchParams }: Props) {
  const [{ t }, { model: modelName, service: name }, { health }] = await Promise.all([
    words('models'),
    params,
    searchParams,
  ]);
  const [model, first] = await Promise.all([readModel(modelName), read(modelName, name)]);
  const { services, relations } = await portal();
  const service = first.items[0]?.name ?? '';
  const [links, details, runs] = await Promise.all([
    // If one of these cannot be read, its card says so.
    relations.list({ model: model.name }).catch(() => undefined),
    services.get({ model: model.name, service }).catch(() => undefined),
    services.runs({ model: model.name, service, limit: recentRuns }).catch(() => undefined),
  ]);
  return (
    <Page
      crumbs={[
        { label: t('title'), href: '/models' },
        { label: model.name, href: modelHref(model.name), isName: true },
        { label: service, isName: true },
      ]}
    >
      <Words namespaces={['models', 'services', 'reports', 'overview']}>
        <ServicePage
          key={`${model.name}/${service}`}
          model={model}
          service={service}
          health={vmHealths.find((each) => each === health)}
          first={first}
          relations={links}
          details={details}
          runs={runs}
          readAt={Date.now()}
        />
      </Words>
    </Page>
  );
}

const short = (name: string): string => decodeURIComponent(name).slice(0, 100);

const readModel = cache(async (model: string) => orNotFound((await portal()).models.get({ model: short(model) })));

const read = cache(async (model: string, service: string) =>
  orNotFound((await portal()).services.states({ model: short(model), service: short(service) })),
);

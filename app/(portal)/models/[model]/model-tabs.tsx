'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { TabLinks } from '#app/_ui/tab-links.tsx';
import { modelHref } from '../model-data.ts';
import type { ModelView } from './model-views.ts';

export interface ModelTabsProps {
  model: string;
  current: ModelView | 'document';
  /** Number of services; undefined if it is not known. */
  services: number | undefined;
}

/** The views of a model, each with its own URL. */
export function ModelTabs({ model, current, services }: ModelTabsProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const reader = useReader();
  const href = (view: ModelView) => `${modelHref(model)}?view=${view}`;
  return (
    <TabLinks
      label={t('model.views')}
      tabs={[
        {
          href: href('services'),
          label: t('model.services'),
          count: services === undefined ? undefined : format.number(services),
          current: current === 'services',
        },
        { href: href('topology'), label: t('model.topology'), current: current === 'topology' },
        ...(reader.can('operator')
          ? [{ href: `${modelHref(model)}/document`, label: t('document.title'), current: current === 'document' }]
          : []),
      ]}
    />
  );
}

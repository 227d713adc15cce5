'use client';

import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardFooter } from '#app/_ui/card.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { unitHref } from '../../services/service-data.ts';
import { isUnseen, unitsBehind } from '../moments.ts';
import type { Moment, RelationName, RelationParts, ShownRelationDetails } from '../relation-data.ts';

export interface BehindCardProps {
  name: RelationName;
  relation: ShownRelationDetails;
  /** Undefined while the settings are loading. */
  moment: Moment | undefined;
  /** What the server read: the most urgent unit that has not seen the settings of a unit. */
  first: RelationParts['readers'];
}

/** Says which unit is behind which other one although no hook fails, why, and where to look. */
export function BehindCard({ name, relation, moment, first }: BehindCardProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  // While the settings are loading, the unit is the one that the server found.
  const unit = moment === undefined ? first?.unit : moment.nodes.find((one) => isUnseen(one, moment.nodes))?.unit;
  const { data } = useQuery({
    ...trpc.relations.readers.queryOptions({ ...name, unit: unit ?? '' }),
    // The server sends one reader, which must not become the complete list.
    placeholderData: first?.unit === unit ? first : undefined,
    ...{ enabled: unit !== undefined, retry: false },
  });
  const [reader] = data === undefined ? [] : unitsBehind(data);
  if (data === undefined || reader === undefined) return null;
  const status = reader.why === 'silent' ? 'unresponsive' : 'progressing';
  const others = relation.behind - 1;
  const versions = { reader: reader.unit, unit: data.unit, has: reader.version ?? 0, latest: data.version };
  return (
    <Card className="mb-4" aria-label={t('relation.behind.label')}>
      <div className="flex gap-2.5 px-4 py-3.5">
        <StatusIcon status={status} className="mt-1 size-4" />
        <div className="min-w-0">
          <p className="text-16 font-medium tracking-tight text-pretty wrap-anywhere">
            {t(reader.version === null ? 'relation.behind.none' : 'relation.behind.has', versions)}
          </p>
          <p className="mt-0.5 text-pretty text-ink-2">
            {t(`relation.why.${reader.why ?? 'waiting'}`, { unit: reader.unit })}
            {others > 0 ? ` ${t('relation.behind.others', { count: others })}` : ''}
          </p>
        </div>
      </div>
      <CardFooter>
        <Button asChild>
          <Link href={unitHref(name.model, reader.unit)}>{t('relation.act.open', { unit: reader.unit })}</Link>
        </Button>
      </CardFooter>
    </Card>
  );
}

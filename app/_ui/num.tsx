'use client';

import { cn } from './cn.ts';
import { useFormat } from './format.ts';

export interface NumProps {
  value: number;
  /** `percent` takes a share of one. */
  as?: 'number' | 'percent' | 'bytes';
  className?: string;
}

/** A number as the reader's language writes it, with digits of equal width. */
export function Num({ value, as = 'number', className }: NumProps) {
  const format = useFormat();
  const text = as === 'percent' ? format.percent(value) : as === 'bytes' ? format.bytes(value) : format.number(value);
  return <span className={cn('tabular-nums', className)}>{text}</span>;
}

'use client';

import { createContext, useContext } from 'react';
import type { Theme } from './theme.ts';

/** Layout state that the top bar of every page can change. */
export interface ShellState {
  languages: readonly string[];
  theme: Theme;
}

export const ShellContext = createContext<ShellState>({ languages: [], theme: 'system' });
export const useShell = (): ShellState => useContext(ShellContext);

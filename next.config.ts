import type { NextConfig } from 'next';

const config: NextConfig = {
  poweredByHeader: false,
  reactStrictMode: true,
  compress: true,
  // `npm run verify` checks the types of the whole project.
  typescript: { ignoreBuildErrors: true },
  images: { unoptimized: true },
  instrumentationClientInject: ['./app/_lib/navigation.ts'],
};

export default config;

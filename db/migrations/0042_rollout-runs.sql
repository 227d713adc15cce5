ALTER TABLE "executions" ADD COLUMN "rollout_id" uuid;--> statement-breakpoint
ALTER TABLE "rollout_steps" ADD COLUMN "execution_id" uuid;
import { accountRoutes } from "./account-routes.ts";
import { getAgentRun, runAgent } from "./dialects/agent-run/agent-run.ts";
import { listAgentTools } from "./dialects/agent-run/agent-tools.ts";
import {
  describeTaiga,
  listTaigaProjects,
  listTaigaRuns,
  listTaigaSprints,
  signInToTaiga,
} from "./dialects/agent-run/taiga-projects.ts";
import { chat, resumeChat } from "./dialects/chat/chat.ts";
import { chatCompletions } from "./dialects/chat-completions/chat-completions.ts";
import { completions } from "./dialects/completions/completions.ts";
import { chatkit } from "./dialects/chatkit/chatkit.ts";
import { createImages } from "./dialects/beside-chat/images.ts";
import { rerank } from "./dialects/beside-chat/rerank.ts";
import { createSpeech } from "./dialects/beside-chat/speech.ts";
import { createTranscription } from "./dialects/beside-chat/transcriptions.ts";
import { conversationItems } from "./dialects/chatkit/conversation.ts";
import { createFile, deleteFile, getFile, getFileContent, listFiles } from "./dialects/files.ts";
import { countTokens, createMessage } from "./dialects/messages/messages.ts";
import { createEmbeddings } from "./dialects/embeddings.ts";
import { getModel, listModels } from "./dialects/models.ts";
import { responseRoutes } from "./response-routes.ts";
import { ollamaRoutes } from "./dialects/ollama/ollama-routes.ts";
import { askTool, listTools } from "./dialects/tools-api.ts";
import {
  changeSession,
  createSession,
  deleteSession,
  findHistory,
  getHistory,
  listSessions,
} from "./dialects/sessions.ts";
import { definitionRoutes } from "./definition-routes.ts";
import { type EndpointRoute } from "./server/endpoint.ts";
import { docs, openApiDocument } from "./server/openapi.ts";
import { allUsage, listAudit, listSettings, ownUsage } from "./routes/admin/overview.ts";
import { cancelAnyRun, getAnyRun, listAllRuns, resolveWrite, resumeAnyRun, retryRun } from "./routes/admin/runs.ts";
import { listAgents } from "./routes/agents/agents.ts";
import { exportThread, forkThread, listBranch } from "./routes/threads/branches.ts";
import {
  continueRun,
  decide,
  listGrants,
  listQuestions,
  listQuestionsOfRun,
  removeGrant,
} from "./routes/runs/decisions.ts";
import { examine } from "./routes/admin/doctor.ts";
import { followMany, followRun, followThread } from "./routes/threads/events.ts";
import { sessionFiles, threadFiles } from "./routes/threads/files.ts";
import { health, livez, readyz } from "./routes/page/health.ts";
import { knowledgeRoutes } from "./knowledge-routes.ts";
import { personRoutes } from "./person-routes.ts";
import { roomRoutes } from "./room-routes.ts";
import { modelStates } from "./routes/agents/models.ts";
import {
  home,
  drawingPage,
  offlinePage,
  page,
  pageAsset,
  pageIcon,
  pageManifest,
  pageMark,
  pageWorker,
} from "./routes/page/page.ts";
import {
  describeMcpClient,
  finishSignIn,
  followSignInLink,
  listMcpServers,
  signInToMcpServer,
  signOutOfMcpServer,
} from "./routes/agents/mcp-servers.ts";
import { relayCompletion, relayModels } from "./routes/agents/model-relay.ts";
import { allBudgets, ownBudgets, removeBudget, setBudget } from "./routes/account/budgets.ts";
import {
  listRetention,
  previewRetention,
  resetRetention,
  runRetention,
  setRetention,
} from "./routes/admin/retention.ts";
import { erasePerson, getErasure, listErasures } from "./routes/admin/erasures.ts";
import { exportOwnData, exportPerson } from "./routes/account/personal-data.ts";
import { addResults } from "./routes/runs/results.ts";
import {
  cancelRun,
  forkRun,
  getItemOfRun,
  getStepPrompt,
  getRun,
  getRunDetails,
  listRuns,
  resumeRun,
  startRun,
  steerRun,
} from "./routes/runs/runs.ts";
import {
  createSchedule,
  deleteSchedule,
  getSchedule,
  listSchedules,
  previewTimes,
  runSchedule,
  updateSchedule,
} from "./routes/threads/schedules.ts";
import { listOwnShares, listShares, readShared, shareThread, withdrawShare } from "./routes/threads/shares.ts";
import { addTask, changeTask, deleteTask, followTasks, listTasks } from "./routes/threads/tasks.ts";
import {
  changeThread,
  closeThread,
  createThread,
  deleteThread,
  editMessage,
  getThread,
  listItems,
  listPending,
  listThreads,
} from "./routes/threads/threads.ts";
import { callTool } from "./routes/runs/tool-calls.ts";
import {
  beginUpload,
  continueUpload,
  deleteUpload,
  downloadUpload,
  getUpload,
  listUploads,
  putUpload,
  uploadFiles,
} from "./routes/knowledge/uploads.ts";
import { allMcpRoutes } from "./mcp/mcp-routes.ts";

const routes: readonly EndpointRoute[] = [
  ["GET", "/", home],
  ["GET", "/chat/:id", page],
  ["GET", "/shared/:id", page],
  ["GET", "/rooms", page],
  ["GET", "/rooms/:id", page],
  ["GET", "/tasks", page],
  ["GET", "/schedules", page],
  ["GET", "/taiga", page],
  ["GET", "/knowledge", page],
  ["GET", "/knowledge/:id", page],
  ["GET", "/runs", page],
  ["GET", "/runs/:id", page],
  ["GET", "/admin", page],
  ["GET", "/admin/:section", page],
  ["GET", "/settings", page],
  ["GET", "/settings/:section", page],
  ["GET", "/assets/*", pageAsset],
  ["GET", "/mark.svg", pageMark],
  ["GET", "/icons/:name", pageIcon],
  ["GET", "/manifest.webmanifest", pageManifest],
  ["GET", "/offline.html", offlinePage],
  ["GET", "/drawing.html", drawingPage],
  ["GET", "/sw.js", pageWorker],
  ["GET", "/health", health],
  ["GET", "/livez", livez],
  ["GET", "/readyz", readyz],
  ["GET", "/openapi.json", openApiDocument],
  ["GET", "/docs", docs],

  ["POST", "/v1/chat/completions", chatCompletions],
  ["POST", "/v1/completions", completions],
  ["POST", "/v1/messages", createMessage],
  ["POST", "/v1/messages/count_tokens", countTokens],
  ["POST", "/v1/embeddings", createEmbeddings],
  ["POST", "/v1/rerank", rerank],
  ["POST", "/v1/audio/speech", createSpeech],
  ["POST", "/v1/audio/transcriptions", createTranscription],
  ["POST", "/v1/images/generations", createImages],
  ["POST", "/v1/files", createFile],
  ["GET", "/v1/files", listFiles],
  ["GET", "/v1/files/:id", getFile],
  ["GET", "/v1/files/:id/content", getFileContent],
  ["DELETE", "/v1/files/:id", deleteFile],
  ["GET", "/v1/models", listModels],
  ["GET", "/v1/models/*", getModel],

  ["POST", "/agent/run", runAgent],
  ["GET", "/agent/run/:id", getAgentRun],
  ["GET", "/agent/tools", listAgentTools],
  ["GET", "/api/taiga", describeTaiga],
  ["POST", "/api/taiga/sign-in", signInToTaiga],
  ["GET", "/api/taiga/projects", listTaigaProjects],
  ["GET", "/api/taiga/sprints", listTaigaSprints],
  ["GET", "/api/taiga/runs", listTaigaRuns],

  ["POST", "/chat", chat],
  ["GET", "/chat/:id/stream", resumeChat],
  ["GET", "/api/chat/sessions", listSessions],
  ["POST", "/api/chat/sessions", createSession],
  ["PATCH", "/api/chat/sessions/:id", changeSession],
  ["DELETE", "/api/chat/sessions/:id", deleteSession],
  ["GET", "/api/chat/history", findHistory],
  ["GET", "/api/chat/history/:id", getHistory],
  ["POST", "/chatkit", chatkit],
  ["GET", "/chatkit/:id/items", conversationItems],

  ["POST", "/api/threads", createThread],
  ["GET", "/api/threads", listThreads],
  ["GET", "/api/threads/:id", getThread],
  ["PATCH", "/api/threads/:id", changeThread],
  ["DELETE", "/api/threads/:id", deleteThread],
  ["POST", "/api/threads/:id/close", closeThread],
  ["GET", "/api/threads/:id/items", listItems],
  ["GET", "/api/threads/:id/pending", listPending],
  ["POST", "/api/threads/:id/messages", editMessage],
  ["GET", "/api/threads/:id/events", followThread],
  ["POST", "/api/threads/:id/runs", startRun],
  ["POST", "/api/events", followMany],

  ["GET", "/api/threads/:id/files", threadFiles.list],
  ["POST", "/api/threads/:id/files", threadFiles.uploadForm],
  ["GET", "/api/threads/:id/files/*", threadFiles.download],
  ["PUT", "/api/threads/:id/files/*", threadFiles.upload],
  ["DELETE", "/api/threads/:id/files/*", threadFiles.remove],
  ["POST", "/api/uploads", uploadFiles],
  ["GET", "/api/uploads", listUploads],
  ["POST", "/api/uploads/begin", beginUpload],
  ["PATCH", "/api/uploads/:id", continueUpload],
  ["GET", "/api/uploads/:id", getUpload],
  ["PUT", "/api/uploads/:id/content", putUpload],
  ["GET", "/api/uploads/:id/content", downloadUpload],
  ["DELETE", "/api/uploads/:id", deleteUpload],
  ["GET", "/api/files", sessionFiles.list],
  ["POST", "/api/files", sessionFiles.uploadForm],
  ["GET", "/api/files/*", sessionFiles.download],
  ["PUT", "/api/files/*", sessionFiles.upload],
  ["DELETE", "/api/files/*", sessionFiles.remove],
  ["GET", "/api/threads/:id/branch", listBranch],
  ["POST", "/api/threads/:id/fork", forkThread],
  ["GET", "/api/threads/:id/export", exportThread],
  ["POST", "/api/threads/:id/shares", shareThread],
  ["GET", "/api/threads/:id/shares", listShares],
  ["GET", "/api/shares", listOwnShares],
  ["DELETE", "/api/shares/:id", withdrawShare],
  ["GET", "/api/shared/:id", readShared],

  ["GET", "/api/runs", listRuns],
  ["GET", "/api/runs/:id", getRun],
  ["GET", "/api/runs/:id/details", getRunDetails],
  ["GET", "/api/runs/:id/items/:item", getItemOfRun],
  ["GET", "/api/runs/:id/prompt", getStepPrompt],
  ["POST", "/api/runs/:id/cancel", cancelRun],
  ["POST", "/api/runs/:id/resume", resumeRun],
  ["POST", "/api/runs/:id/fork", forkRun],
  ["POST", "/api/runs/:id/continue", continueRun],
  ["POST", "/api/runs/:id/steer", steerRun],
  ["GET", "/api/runs/:id/events", followRun],
  ["GET", "/api/runs/:id/questions", listQuestionsOfRun],
  ["POST", "/api/runs/:id/decisions/:item", decide],
  ["POST", "/api/runs/:id/results", addResults],
  ["GET", "/api/questions", listQuestions],
  ["GET", "/api/grants", listGrants],
  ["DELETE", "/api/grants/:id", removeGrant],

  ["POST", "/api/schedules", createSchedule],
  ["GET", "/api/schedules", listSchedules],
  ["GET", "/api/schedules/times", previewTimes],
  ["GET", "/api/schedules/:id", getSchedule],
  ["PATCH", "/api/schedules/:id", updateSchedule],
  ["DELETE", "/api/schedules/:id", deleteSchedule],
  ["POST", "/api/schedules/:id/run", runSchedule],

  ["GET", "/api/tasks", listTasks],
  ["POST", "/api/tasks", addTask],
  ["GET", "/api/tasks/events", followTasks],
  ["PATCH", "/api/tasks/:id", changeTask],
  ["DELETE", "/api/tasks/:id", deleteTask],

  ["GET", "/api/agents", listAgents],
  ["GET", "/api/models", modelStates],
  ["GET", "/api/tools/list", listTools],
  ["POST", "/api/tools/:name", askTool],
  ["POST", "/api/tools/:name/calls", callTool],
  ["POST", "/api/model-relay/v1/chat/completions", relayCompletion],
  ["GET", "/api/model-relay/v1/models", relayModels],

  ["GET", "/api/mcp/servers", listMcpServers],
  ["POST", "/api/mcp/servers/:name/sign-in", signInToMcpServer],
  ["DELETE", "/api/mcp/servers/:name/sign-in", signOutOfMcpServer],
  ["GET", "/api/mcp/sign-in", followSignInLink],
  ["GET", "/api/mcp/callback", finishSignIn],
  ["GET", "/api/mcp/client.json", describeMcpClient],

  ["GET", "/api/usage", ownUsage],
  ["GET", "/api/budget", ownBudgets],
  ["GET", "/api/admin/budgets", allBudgets],
  ["PUT", "/api/admin/budgets", setBudget],
  ["DELETE", "/api/admin/budgets/:id", removeBudget],
  ["GET", "/api/admin/retention", listRetention],
  ["GET", "/api/admin/retention/preview", previewRetention],
  ["POST", "/api/admin/retention/run", runRetention],
  ["PUT", "/api/admin/retention/:kind", setRetention],
  ["DELETE", "/api/admin/retention/:kind", resetRetention],
  ["POST", "/api/admin/users/:id/erase", erasePerson],
  ["GET", "/api/admin/users/:id/export", exportPerson],
  ["GET", "/api/admin/erasures", listErasures],
  ["GET", "/api/admin/erasures/:id", getErasure],
  ["GET", "/api/auth/me/export", exportOwnData],
  ["GET", "/api/admin/usage", allUsage],
  ["GET", "/api/admin/settings", listSettings],
  ["GET", "/api/admin/audit", listAudit],
  ["GET", "/api/admin/doctor", examine],
  ["GET", "/api/admin/runs", listAllRuns],
  ["GET", "/api/admin/runs/:id", getAnyRun],
  ["POST", "/api/admin/runs/:id/cancel", cancelAnyRun],
  ["POST", "/api/admin/runs/:id/resume", resumeAnyRun],
  ["POST", "/api/admin/runs/:id/retry", retryRun],
  ["POST", "/api/admin/runs/:id/ledger/:step/:index", resolveWrite],
];

/** Lists every route of the server with its handler. */
export const allRoutes: readonly EndpointRoute[] = [
  ...routes,
  ...ollamaRoutes,
  ...knowledgeRoutes,
  ...roomRoutes,
  ...personRoutes,
  ...definitionRoutes,
  ...accountRoutes,
  ...responseRoutes,
  ...allMcpRoutes(),
];
